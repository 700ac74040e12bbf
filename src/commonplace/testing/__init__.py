"""The contract of storage backends, to be held against one's own. No test framework is needed; with pytest:

    import pytest
    from commonplace.testing import Store, checks_for
    from my_package import MyBackend

    @pytest.mark.parametrize("check", checks_for(MyBackend("/tmp/any")), ids=str)
    def test_my_backend_keeps_the_contract(check, tmp_path):
        check(Store(open=lambda: MyBackend(tmp_path)))

Every check wants an empty store of its own and raises ContractBroken with the rule that was broken.
"""

from commonplace.testing.backend_contract import CHECKS, checks_for
from commonplace.testing.contract import Check, ContractBroken, Store

__all__ = ["CHECKS", "Check", "ContractBroken", "Store", "checks_for"]
