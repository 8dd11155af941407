-- The tables and columns of an Nsight Systems export that are read, as its documentation names them.
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.4');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float *)'), (2, '_Z4gemmIfEvPf'), (3, 'gemm'),
    (4, 'relu(float *)'), (5, '_Z4reluPf'), (6, 'cudaLaunchKernel_v7000'), (7, 'fc1 by id');
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, memoryBandwidth INTEGER,
    computeMajor INTEGER, computeMinor INTEGER, clockRate INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-80GB', 108, 2039000000000, 8, 0, 1410000000);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER);
-- globalTid: thread 9 of the process whose globalPid is 5 << 24
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1010, (5 << 24) + 9, 1, 6),
    (2000, 2010, (5 << 24) + 9, 2, 6), (1005, 1006, (6 << 24) + 9, 1, 6);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
    globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (500, 3000, 59, 'forward', NULL, (5 << 24) + 9, 0),
    (900, 1100, 59, NULL, 7, (5 << 24) + 9, 0), (950, 960, 59, 'closed', NULL, (5 << 24) + 9, 0),
    (990, 1020, 59, 'other thread', NULL, (6 << 24) + 9, 0), (995, NULL, 34, 'mark', NULL, (5 << 24) + 9, 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
    streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
    mangledName INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
    blockX INTEGER, blockY INTEGER, blockZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (2100, 2150, 0, 1, 7, 2, 5 << 24, 4, 4, 5, 16, 8, 1, 1, 512, 1, 1),
    (1100, 1900, 0, 1, 7, 1, 5 << 24, 1, 3, 2, 96, 16, 16, 1, 128, 2, 1);
