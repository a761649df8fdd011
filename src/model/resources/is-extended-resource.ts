/** A resource that Kubernetes did not name, such as example.com/gpu. */
export function isExtendedResource(resource: string): boolean {
  return resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.')
}
