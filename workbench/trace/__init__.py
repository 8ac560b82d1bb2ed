"""What a run left behind: the file, its entries, and pure functions over them."""
