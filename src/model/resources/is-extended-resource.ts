/** A resource that somebody else than Kubernetes has named, such as example.com/gpu. */
export function isExtendedResource(resource: string): boolean {
  return resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.')
}
