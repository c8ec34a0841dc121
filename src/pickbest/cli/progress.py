"""The progress bar of every command that takes its time."""

from pickbest.core.progress import Progress as Progress, progress_bar as progress_bar
