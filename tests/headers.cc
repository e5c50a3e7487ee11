// Nothing: the target is for the headers that tests share, compiled once.
