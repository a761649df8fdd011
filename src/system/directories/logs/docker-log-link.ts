import { readlink } from 'node:fs/promises'

const DOCKER_LOG = /^\/.*\/([0-9a-f]{64})\/\1-json\.log$/

/**
 * Where the log of a container is that Docker writes, from the link that stands where the agent looks for it; undefined for a link to
 * anything else. Links below the node's logs may be those of a pod.
 */
export async function readDockerLink(link: string, containerId?: string): Promise<string | undefined> {
  const target = await readlink(link)
  const id = DOCKER_LOG.exec(target)?.[1]
  return id !== undefined && (containerId === undefined || containerId === id) ? target : undefined
}
