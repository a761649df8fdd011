import assert from 'node:assert/strict'
import { deployment, jobSpec, object } from './manifests.ts'
import { runJob } from './run-job.ts'

const image = 'edge.example/sensor:1'
const OBJECTS = `${deployment('sensor', 'while :; do echo reading; sleep 1; done', { image })}${object({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'report' },
  spec: { schedule: '0 3 * * *', jobTemplate: { spec: jobSpec('echo sent', { image }) } },
})}`
let reports = 0

/** No network but loopback: images come from files, objects from a folder. */
runJob('edge box without a network', {
  options: (node) => ['--apply', `${node.folder}/site`],
  prepare: async (node) => void (await node.write('site/sensor.yaml', OBJECTS)),
  begin: async (node) => {
    // There is no registry: the pod waits for its image, and says so.
    await node.eventually(['get', 'pods', '-l', 'app=sensor'], /ErrImagePull|ImagePullBackOff/)
    const file = `${node.folder}/sensor.tar`
    await node.deckhand('images', 'save', 'deckhand.local/busybox:1', '-o', file)
    await node.deckhand('images', 'load', file, '--name', image)
  },
  holds: async (node) => {
    await node.rolledOut('deployment/sensor')
    await node.eventually(['logs', 'deployment/sensor'], /^reading\n/)
    reports += 1
    const name = `report-${reports}`
    await node.kubectl('create', 'job', name, '--from=cronjob/report')
    await node.kubectl('wait', '--for=condition=Complete', `job/${name}`, '--timeout=150s')
    assert.equal(await node.kubectl('logs', `job/${name}`), 'sent\n')
    assert.match(await node.deckhand('images', 'ls'), /^edge\.example\/sensor:1 /m)
    await node.deckhand('status')
  },
})
