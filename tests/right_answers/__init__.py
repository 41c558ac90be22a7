"""Right answers written in another way than the lesson's solution: checks must take them too."""
