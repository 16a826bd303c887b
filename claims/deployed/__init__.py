"""The ledger's checks of what deployed systems print; the facts are in ``claims.systems``."""
