"""Reports: pure functions from the result model to what people and machines read."""
