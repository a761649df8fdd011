/** Whether a process runs in a user namespace, by its `uid_map`. Outside of all of them the kernel shows one line that maps every user to itself. */
export function isUserNamespace(uidMap: string): boolean {
  const map = uidMap.trim().split(/\s+/).join(' ')
  return map !== '' && map !== '0 0 4294967295'
}
