"""Generated code. Made by scripts/generate_python.py from Protos. Do not edit."""
