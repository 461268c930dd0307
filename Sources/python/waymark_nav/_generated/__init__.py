"""Generated code. Made by scripts/generate/python_messages.py from Protos. Do not edit."""
