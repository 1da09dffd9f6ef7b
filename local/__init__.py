"""What one machine needs to run the arena: a Docker engine, its base images, the one start."""
