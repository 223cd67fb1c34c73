"""What ``--impl`` names: adapters, files, modules and classes, found and loaded."""
