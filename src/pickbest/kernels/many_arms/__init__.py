"""What only serves very many arms: buckets for partial feedback, blocks for full feedback."""
