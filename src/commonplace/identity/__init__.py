"""Who uses the memories of a server: people, the vaults they may use, their sign-in codes, OAuth grants and spending.

people         a person, their role and limits; which scopes a role allows; people and vault members in the database
authorization  what an OAuth client may ask for: redirect URIs, PKCE, scopes, the resource
grants         OAuth: clients, authorization codes, grants and their tokens in the database
access         who a credential stands for: the person, the vault and the scopes
budgets        what language models cost each person today
devices        tokens of people's devices in the database, where several daemons share them
copy           everybody from a file to PostgreSQL, or back
schema         the tables, what a database must offer, and the file `identity.db`
postgresql     the same tables in PostgreSQL, for several daemons
options        the settings block `identity`

Secrets are stored as hashes. A person who was removed keeps their id: the history of the vaults names it.
"""
