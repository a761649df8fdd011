import { DOES } from '../pod-actor.ts'

type Fields = object

export const container = (fields: Fields = {}) => ({ name: 'main', image: 'registry.test/app:1', ...fields })

/** The template of pods; what they do is an annotation of it. */
export function template(app: string, does = 'ready', fields: Fields = {}, spec: Fields = {}) {
  const { annotations = {}, labels = {}, ...metadata } = fields as { annotations?: Fields; labels?: Fields }
  return {
    metadata: { labels: { app, ...labels }, annotations: { [DOES]: does, ...annotations }, ...metadata },
    spec: { terminationGracePeriodSeconds: 5, containers: [container()], ...spec },
  }
}

const workload = (kind: string, name: string, spec: Fields, metadata: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, ...metadata },
  spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
})

export const deployment = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  workload('Deployment', name, spec, metadata)
export const replicaSet = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  workload('ReplicaSet', name, spec, metadata)
export const daemonSet = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  workload('DaemonSet', name, spec, metadata)
export const statefulSet = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  workload('StatefulSet', name, { serviceName: name, ...spec }, metadata)

/** A change of the template that makes a rollout: what its pods do, and a number. */
export const templateOf = (version: number, does = 'ready') => ({
  spec: { template: { metadata: { annotations: { [DOES]: does, version: String(version) } } } },
})

export const job = (name: string, spec: Fields = {}, does = 'succeed', podSpec: Fields = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: template(name, does, {}, { restartPolicy: 'Never', ...podSpec }), ...spec },
})

export const pod = (name: string, labels: Fields, does = 'ready', metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels, annotations: { [DOES]: does }, ...metadata },
  spec: { terminationGracePeriodSeconds: 5, containers: [container()] },
})

export const budget = (name: string, spec: Fields) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
})

export const quota = (hard: Fields) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'quota' },
  spec: { hard },
})
