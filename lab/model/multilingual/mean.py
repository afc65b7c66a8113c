"""The mean of tables that differ in their seed. usage: mean.py OUT.npy TABLE.npy..."""
import sys
import numpy as np

if __name__ == '__main__':
    np.save(sys.argv[1], np.mean([np.load(f) for f in sys.argv[2:]], 0, dtype=np.float64).astype(np.float32))
