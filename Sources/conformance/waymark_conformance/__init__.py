"""Tests implementations of the Waymark protocol: vehicle endpoints, navigation clients and gateways."""
