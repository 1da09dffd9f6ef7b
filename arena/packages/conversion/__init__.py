"""Tasks in other formats, made into task packages; nothing of a source is lost silently."""
