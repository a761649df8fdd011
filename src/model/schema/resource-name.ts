/** What is known of a resource by its name alone. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** In the namespace of Kubernetes itself: "cpu", or "x.kubernetes.io/y". */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

/** May a container's limit be above its request? Not for what cannot be shared. */
export function mayOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name)
}

/** Resources that a pod may ask for as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}
