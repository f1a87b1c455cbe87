/** Magic numbers of statfs(2). Their locks, or the shared memory of SQLite's WAL, do not hold between hosts. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  1397113167: 'AFS',
  198183888: 'Lustre',
  12805120: 'Ceph',
};

/** May be a network in disguise (sshfs, a shared folder of a virtual machine), or harmless. */
const DOUBTFUL: Readonly<Record<number, string>> = {
  1702057286: 'FUSE',
  16914839: '9p',
};

/** Whether a database may lie on a file system of this statfs type: several hosts would damage it. */
export function judgeFileSystem(type: number): {
  readonly verdict: 'fine' | 'doubtful' | 'network';
  readonly name?: string;
} {
  // Some platforms give the number signed.
  const magic = type >>> 0;
  const network = NETWORK[magic];
  if (network !== undefined) return { verdict: 'network', name: network };
  const doubtful = DOUBTFUL[magic];
  return doubtful === undefined ? { verdict: 'fine' } : { verdict: 'doubtful', name: doubtful };
}
