"""What a laptop needs to play the whole arena; the product never imports it."""
