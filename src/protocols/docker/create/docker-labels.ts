import type { Labels } from '../api/docker-types.ts'

/** Distinguishes sandboxes from containers, and both from what others run. */
export const TYPE_LABEL = 'io.kubernetes.docker.type'
export const SANDBOX_TYPE = 'podsandbox'
export const CONTAINER_TYPE = 'container'
export const SANDBOX_ID_LABEL = 'io.kubernetes.sandbox.id'
export const LOG_PATH_LABEL = 'io.kubernetes.container.logpath'
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name'
const ANNOTATION_PREFIX = 'annotation.'
const OWN: ReadonlySet<string> = new Set([TYPE_LABEL, SANDBOX_ID_LABEL, LOG_PATH_LABEL])

/** Labels and annotations of CRI as labels of Docker, which has only these. */
export function toDockerLabels(labels: Labels, annotations: Labels, own: Labels): Record<string, string> {
  const prefixed = Object.entries(annotations).map(([key, value]) => [`${ANNOTATION_PREFIX}${key}`, value] as const)
  return { ...labels, ...Object.fromEntries(prefixed), ...own }
}

/** The labels and annotations that were given; labels of the image, which Docker adds, are among them. */
export function fromDockerLabels(all: Labels): {
  readonly labels: Record<string, string>
  readonly annotations: Record<string, string>
} {
  const labels: Record<string, string> = {}
  const annotations: Record<string, string> = {}
  const isSandbox = all[TYPE_LABEL] === SANDBOX_TYPE
  for (const [key, value] of Object.entries(all)) {
    if (key.startsWith(ANNOTATION_PREFIX)) annotations[key.slice(ANNOTATION_PREFIX.length)] = value
    else if (!OWN.has(key) && !(isSandbox && key === CONTAINER_NAME_LABEL)) labels[key] = value
  }
  return { labels, annotations }
}
