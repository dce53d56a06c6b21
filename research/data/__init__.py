"""Everything that papers and experiments read, in one place: real tables from the folder of --data, or made-up ones."""
