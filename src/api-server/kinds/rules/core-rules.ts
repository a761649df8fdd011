import type { Service, ServiceSpec } from '../../../model/generated/core-v1.ts'
import { FieldPath } from '../../../schema/field-path.ts'
import { ProblemList } from '../../../schema/validation/problem-list.ts'
import type { ResourceRules } from '../resource.ts'

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'
const SPEC = FieldPath.root.child('spec')

export const namespaceRules: ResourceRules = {
  prepareCreate: (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [NAMESPACE_LABEL]: object.metadata.name ?? '' },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (object, before) => ({
    ...object,
    metadata: {
      ...object.metadata,
      labels: { ...object.metadata.labels, [NAMESPACE_LABEL]: object.metadata.name ?? '' },
    },
    spec: before['spec'],
  }),
}

/** Services are kept for those who read them; nothing here gives them addresses. */
export const serviceRules: ResourceRules = {
  fillDefaults: (object) => {
    const spec = (object['spec'] ?? {}) as ServiceSpec
    const type = spec.type || 'ClusterIP'
    return {
      ...object,
      spec: {
        ...spec,
        type,
        sessionAffinity: spec.sessionAffinity || 'None',
        ...(type !== 'ExternalName' && { internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster' }),
        ...(spec.ports && {
          ports: spec.ports.map((port) => ({ ...port, targetPort: port.targetPort ?? port.port })),
        }),
      },
    }
  },
  prepareCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
  validate: (object) => {
    const problems = new ProblemList()
    const { spec } = object as unknown as Service
    problems.oneOf(SPEC.child('type'), spec?.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'])
    if (spec?.type !== 'ExternalName' && spec?.clusterIP !== 'None' && (spec?.ports?.length ?? 0) === 0) {
      problems.required(SPEC.child('ports'))
    }
    const names = new Set<string>()
    for (const [index, { name = '', port, protocol }] of (spec?.ports ?? []).entries()) {
      const path = SPEC.child('ports').index(index)
      problems.inRange(path.child('port'), port, 1, 65_535)
      problems.oneOf(path.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'])
      if (name === '' && (spec?.ports?.length ?? 0) > 1) problems.required(path.child('name'))
      if (name !== '' && names.has(name)) problems.duplicate(path.child('name'), name)
      names.add(name)
    }
    return problems.violations
  },
}
