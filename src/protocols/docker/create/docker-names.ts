/** Which sandbox or container of which pod a container of Docker is; what the kubelets of its time wrote into its name. */
export interface DockerName {
  /** `POD` for the sandbox. */
  readonly container: string
  readonly pod: string
  readonly namespace: string
  readonly uid: string
  readonly attempt: number
}

/** What stands in the place of the container in the name of a sandbox. */
export const SANDBOX_NAME = 'POD'
/** At the end of the name of a container that ran although Docker shows it as never started (endLostStart). */
export const BEGUN = 'begun'
const PREFIX = 'k8s'
const SEPARATOR = '_'
const LARGEST_ATTEMPT = 2 ** 32 - 1

/** The name that Docker gets; none of the parts may contain an underscore, which Kubernetes sees to. */
export function formatDockerName({ container, pod, namespace, uid, attempt }: DockerName, suffix?: string): string {
  const parts = [PREFIX, container, pod, namespace, uid, String(attempt)]
  return [...parts, ...(suffix === undefined ? [] : [suffix])].join(SEPARATOR)
}

/** Reads a name of Docker; undefined for one that no kubelet made. */
export function parseDockerName(name: string): DockerName | undefined {
  const parts = name.replace(/^\//, '').split(SEPARATOR)
  const [prefix, container = '', pod = '', namespace = '', uid = '', attempt = ''] = parts
  if (prefix !== PREFIX || (parts.length !== 6 && parts.length !== 7)) return undefined
  if (!/^\d{1,10}$/.test(attempt) || Number(attempt) > LARGEST_ATTEMPT) return undefined
  return { container, pod, namespace, uid, attempt: Number(attempt) }
}

/** Did a container run whose start Docker lost? */
export function hasBegun(name: string): boolean {
  return name.split(SEPARATOR)[6] === BEGUN
}
