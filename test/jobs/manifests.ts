export const BUSYBOX = 'deckhand.local/busybox:1'

interface PodParts {
  readonly image?: string
  /** More of the pod's spec, such as its volumes. */
  readonly spec?: object
  /** More of its container. */
  readonly container?: object
}

/** A Deployment of one container that runs a line of shell; as JSON, which is YAML too. */
export function deployment(name: string, line: string, parts: PodParts & { readonly replicas?: number } = {}): string {
  const { replicas = 1, ...rest } = parts
  const template = { metadata: { labels: { app: name } }, spec: podSpec(line, rest) }
  const spec = { replicas, selector: { matchLabels: { app: name } }, template }
  return object({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec })
}

/** A Job of one try that runs a line of shell. */
export function job(name: string, line: string, parts: PodParts = {}): string {
  return object({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: jobSpec(line, parts) })
}

/** For a Job, or for those of a CronJob. */
export function jobSpec(line: string, parts: PodParts = {}): object {
  return { backoffLimit: 0, template: { spec: { ...podSpec(line, parts), restartPolicy: 'Never' } } }
}

/** A Service in front of port 8080 of the pods of a Deployment. */
export function service(name: string, spec: { readonly type?: string; readonly nodePort?: number } = {}): string {
  const { type = 'ClusterIP', ...port } = spec
  const ports = [{ port: 80, targetPort: 8080, ...port }]
  const body = { type, selector: { app: name }, ports }
  return object({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: body })
}

/** A document of several. */
export function object(value: object): string {
  return `---\n${JSON.stringify(value)}\n`
}

/** A line that serves what another one prints, on port 8080. */
export function serve(print: string): string {
  return `mkdir -p /tmp/w; ${print} > /tmp/w/index.html; exec httpd -f -p 8080 -h /tmp/w`
}

function podSpec(line: string, { image = BUSYBOX, spec = {}, container = {} }: PodParts): object {
  const main = { name: 'main', image, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', line], ...container }
  return { terminationGracePeriodSeconds: 1, containers: [main], ...spec }
}
