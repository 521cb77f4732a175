"""Pages about experiments: drawn by the service, from sums by minute, with nothing from elsewhere."""
