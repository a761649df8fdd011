/** A cgroup could not be made or changed; the caller tries again later. */
export class CgroupError extends Error {
  override readonly name = 'CgroupError'
}
