/** A cgroup could not be made or changed; whoever needs it tries again later. */
export class CgroupError extends Error {
  override readonly name = 'CgroupError'
}
