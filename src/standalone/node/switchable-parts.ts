/** What "up --without" can switch off: a part, and the resources that nothing acts on then and that are not taken any more. */
export const SWITCHABLE_PARTS: Readonly<Record<string, readonly string[]>> = {
  deployments: ['deployments.apps', 'replicasets.apps'],
  daemonsets: ['daemonsets.apps'],
  statefulsets: ['statefulsets.apps'],
  budgets: ['poddisruptionbudgets.policy'],
  autoscalers: ['horizontalpodautoscalers.autoscaling'],
  jobs: ['cronjobs.batch', 'jobs.batch'],
  dns: [],
  ingress: ['ingresses.networking.k8s.io'],
  policies: ['networkpolicies.networking.k8s.io'],
  storage: ['storageclasses.storage.k8s.io'],
  // Pods stay, whatever NoExecute taints the node has.
  taints: [],
  // Another one binds pods to the node.
  scheduler: [],
  services: ['services', 'endpoints', 'endpointslices.discovery.k8s.io'],
}

/** The resources of parts that are switched off, each with the reason why none is taken. */
export function switchedOff(without: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    without.flatMap((part) => (SWITCHABLE_PARTS[part] ?? []).map((resource) => [resource, sentenceOf(part)] as const)),
  )
}

function sentenceOf(part: string): string {
  return `this node runs without ${part} ("deckhand up --without ${part}"), so nothing would act on it`
}
