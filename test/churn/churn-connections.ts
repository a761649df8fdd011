import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startLab } from '../e2e/lab/start-lab.ts'
import { WorkloadNode } from '../e2e/standalone/workload-node.ts'

const CLIENT = fileURLToPath(new URL('connection-client.ts', import.meta.url))
const INGRESS_PORT = '8480'
const SECONDS = 90
/** Fewer would show nothing. */
const LEAST_ROLLOUTS = 3

// As an application has to be that wants to lose no request: it says when it is ready, and goes on for a while when it is to end.
const OBJECTS = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 10
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, 'mkdir -p /tmp/w && hostname > /tmp/w/index.html && exec httpd -f -p 8080 -h /tmp/w']
        readinessProbe: {httpGet: {port: 8080, path: /}, periodSeconds: 1}
        lifecycle: {preStop: {sleep: {seconds: 3}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: web, port: {name: http}}}}
`

interface ClientCounts {
  readonly done: number
  readonly failures: Readonly<Record<string, number>>
}

/** Connections through a Service, and some through an Ingress, while the pods behind it roll: returns those that failed. */
export async function churnConnections({ connections }: { readonly connections: number }): Promise<readonly string[]> {
  console.log(`${connections} connections through a Service while its pods roll`)
  await using lab = await startLab()
  const node = new WorkloadNode(lab)
  await node.up('--ingress-http-port', INGRESS_PORT)
  try {
    await node.kubectl('apply', '-f', await node.write('web.yaml', OBJECTS))
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    const address = await node.kubectl('get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}')
    const log = `${lab.folder}/client.log`
    const argv = [process.execPath, CLIENT, `http://${address}/`, `http://127.0.0.1:${INGRESS_PORT}/`]
    const client = await lab.startInside([...argv, String(connections), String(SECONDS)], log)
    const over = new AbortController()
    const ended = client.exited.then(() => over.abort())
    let rollouts = 0
    while (!over.signal.aborted) {
      await node.kubectl('rollout', 'restart', 'deployment/web')
      // One that is under way when the client ends counts as well.
      await node.tryKubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
      rollouts += 1
      await sleep(500)
    }
    await ended
    const text = await readFile(log, 'utf8')
    const counts = JSON.parse(text.trim().split('\n').at(-1) ?? '') as ClientCounts
    console.log(`${counts.done} connections, ${rollouts} rollouts: ${JSON.stringify(counts.failures)}`)
    return [
      ...Object.entries(counts.failures).map(([what, count]) => `${count} connections: ${what}`),
      ...(counts.done < connections ? [`${counts.done} connections were made, not ${connections}`] : []),
      ...(rollouts < LEAST_ROLLOUTS ? [`${rollouts} rollouts, expected at least ${LEAST_ROLLOUTS}`] : []),
    ]
  } finally {
    await node.down()
  }
}
