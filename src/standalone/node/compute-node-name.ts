/**
 * The name of the node on a machine of this host name: the host name in lower case, as the kubelet takes it. What no object of Kubernetes may be called
 * is left out of it, because the API would never take a Node of that name.
 */
export function computeNodeName(hostname: string): string {
  const labels = hostname
    .trim()
    .toLowerCase()
    .split('.')
    .map((label) => label.replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
  return labels.length === 0 ? 'node' : labels.join('.')
}
