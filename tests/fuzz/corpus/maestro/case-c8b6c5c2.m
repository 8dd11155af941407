// row stationary
Dataflow { SpatialMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(16,16) K; TemporalMap(Sz(R),Sz(R)) R; Cluster(Sz(R),P); SpatialMap(1,1) R; }