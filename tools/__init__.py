"""Tools for those who write the course. Run them from the top folder: python -m tools.notebooks"""
