"""The official packages of each provider, as oracles of the replies that are read and the results that are written."""
