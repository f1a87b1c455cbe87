import { statfs } from 'node:fs/promises';
import { cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os';

const FILE_SYSTEMS = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlayfs',
};

export async function describeMachine() {
  const { type } = await statfs(tmpdir());
  return {
    cpu: cpus()[0].model.trim(),
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: `${platform()} ${release()}`,
    fileSystem: FILE_SYSTEMS[type] ?? `type 0x${type.toString(16)}`,
    load: loadavg()[0],
  };
}
