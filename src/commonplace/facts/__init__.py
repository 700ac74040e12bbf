"""Facts as logic: what a candidate becomes, what holds when, how it ages. Values in, values out."""
