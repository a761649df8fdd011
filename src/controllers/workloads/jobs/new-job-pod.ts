import type { Job } from '../../../model/generated/api-groups.ts'
import type { Container, EnvVar, OwnerReference, Pod } from '../../../model/generated/core-v1.ts'
import type { Live } from '../../engine/live-object.ts'
import { toPod } from '../pods/pod-control.ts'
import type { NewPod } from './compute-job-sizing.ts'
import { INDEX, INDEX_FAILURES, TRACKING_FINALIZER } from './job-pods.ts'

const INDEX_VARIABLE: EnvVar = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } },
}
// What leaves room for the end of a name that the API makes up.
const LONGEST_PREFIX = 58

/** A pod of a Job, which is kept until it is counted. */
export function newJobPod(job: Live<Job>, reference: OwnerReference, { index, failures }: NewPod): Pod {
  const { name } = job.metadata
  const pod = toPod(name, reference, job.spec.template)
  const finalizers = [...(pod.metadata?.finalizers ?? []), TRACKING_FINALIZER]
  if (index === undefined) return { ...pod, metadata: { ...pod.metadata, finalizers } }
  const { containers = [], initContainers } = job.spec.template.spec ?? {}
  const end = `-${index}-`
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, LONGEST_PREFIX - end.length)}${end}`,
      finalizers,
      labels: { ...pod.metadata?.labels, [INDEX]: String(index) },
      annotations: {
        ...pod.metadata?.annotations,
        [INDEX]: String(index),
        ...(failures !== undefined && { [INDEX_FAILURES]: String(failures) }),
      },
    },
    spec: {
      ...pod.spec,
      containers: containers.map(withIndex),
      ...(initContainers && { initContainers: initContainers.map(withIndex) }),
      hostname: `${name}-${index}`,
    },
  }
}

function withIndex(container: Container): Container {
  const { env = [] } = container
  return env.some(({ name }) => name === INDEX_VARIABLE.name)
    ? container
    : { ...container, env: [...env, INDEX_VARIABLE] }
}
