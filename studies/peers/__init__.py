"""Peers: what others do about online selection with features, built small to be compared with."""
