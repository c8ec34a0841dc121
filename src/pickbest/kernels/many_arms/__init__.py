"""What only serves very many arms: buckets, from which a few are picked."""
