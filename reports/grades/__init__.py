"""What comes of graded submissions: pages, tables, and the files that course platforms read."""
