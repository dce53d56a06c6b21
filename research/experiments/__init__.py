"""Claims of the documentation, each with the program that checks it and the table it wrote."""
