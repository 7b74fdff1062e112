"""What every learner is: parameters, labels, input, fitted state."""
