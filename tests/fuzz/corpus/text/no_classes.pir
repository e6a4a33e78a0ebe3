# refused: a cluster without classes

