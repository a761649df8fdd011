/** Answers of our API server that differ from the real one's, and why that is so. docs/differences.md says it in words. */
export interface ChosenDifference {
  /** The places of answers that differ, as in "0.body.status.phase"; the first number is the step. */
  readonly at: RegExp
  readonly why: string
  /** Tables and their cases, as in "lists / pages". */
  readonly cases: readonly string[]
}

export const chosenDifferences: readonly ChosenDifference[] = [
  {
    at: /\.body\.causes\.\d+$/,
    why: 'a cause names the very field or element that is wrong; the real one at times the list around it, or gives another reason for it',
    cases: [
      'pod-validation / labels',
      'network-policies / policy with a bad selector of a peer',
      'pod-validation / owner without uid',
      'pod-validation / owner that is an event',
      'pod-validation / variable from an unknown field',
      'pod-validation / variable from a field of another version',
      'pod-validation / variable from a resource with a bad divisor',
      'pod-validation / variable from a key without a name',
      'pod-validation / variables from two sources',
      'pod-validation / variables from nothing',
      'pod-validation / requests above limits',
      'pod-validation / probe by HTTP with a bad header',
      'pod-validation / hook that sleeps longer than the grace',
      'pod-validation / mount with a sub path that leaves',
      'pod-validation / mount with an absolute sub path',
      'pod-validation / mount with an unknown propagation',
      'pod-validation / mount with propagation in a container that is not privileged',
      'pod-validation / mount read only in depth and writable',
      'pod-validation / downward API with both refs',
      'pod-validation / downward API with a field that is none',
      'pod-validation / downward API with a path that leaves',
      'pod-validation / projected token without a path',
      'pod-validation / projected sources at one path',
      'pod-validation / too many name servers',
      'pod-validation / node selector',
      'pod-validation / toleration of a value that exists',
      'pod-validation / no more rights, and privileged',
      'pod-validation / host namespaces beside users of its own',
      'pod-validation / host network and shared processes of the host',
      'pod-validation / OS that is none',
      'pod-validation / affinity with an operator that is none',
      'pod-validation / affinity to pods without a topology',
      'pod-validation / resize policy of an unknown resource',
      'pod-validation / pod resources above limits',
      'kinds / configmap too large',
      'kinds / service with a bad selector',
      'kinds / volume without a size',
      'kinds / claim with a bad selector',
      'kinds / attachment of nothing',
      'kinds / node with bad addresses of pods',
      'kinds / node with a bad taint',
      'kinds / node with two equal taints',
      'kinds / resource slice of no node',
      'kinds / certificate request without all',
      'patches / strategic: a container removed',
      'patches / merge: containers are one value',
      'updates / a pod without containers any more',
      'updates / an empty image',
      'updates / what cannot change of a volume',
      'pod-subresources / gates that are removed and added',
      'pod-subresources / status: addresses',
      'pod-subresources / ephemeral containers that break rules',
      'pod-subresources / resize: something else',
      'pod-subresources / resize: requests above limits',
      'pod-subresources / resize: a policy',
      'pod-subresources / log with bad options',
      'updates / what cannot change of a priority class',
      'updates / what cannot change of a driver',
      'roles / aggregation with a bad label',
      'roles / aggregation with an unknown operator',
      'apply-pods / an image that is given up',
      'apply-kinds / volume: what two do not agree on',
      'custom-objects / value: a number with a fraction for a whole one',
      'custom-objects / gadget: a status that is wrong',
    ],
  },
  {
    at: /^[012]\.body\.0$/,
    why: 'the note of a DaemonSet for a version that is no longer served is not written',
    cases: ['apply-kinds / daemon set: by POST', 'apply-kinds / daemon set: patched by another'],
  },
  {
    at: /\.divisor$/,
    why: 'a divisor that is not sent is not made up',
    cases: ['pod-defaults / environment'],
  },
  {
    at: /^0\./,
    why: 'the stop signal of a container is a field here; the real one has it behind a gate that is off, and drops it',
    cases: ['pod-validation / stop signal without an OS'],
  },
  {
    at: /\.body\.message$/,
    why: 'the reason is worded in our own way, or more of it is said',
    cases: [
      'pod-validation / priority of its own',
      'patches / a patch of a kind that is none',
      'lists / a form that is none',
      'lists / a type that is none',
      'updates / a replacement with another uid',
      'deletion / with another uid',
      'pod-subresources / eviction with another uid',
      'reviews / token of a pod with another uid',
    ],
  },
  {
    at: /\.details\.kind$/,
    why: 'the resource is named as in all other conflicts, by its plural',
    cases: [
      'deletion / with another uid',
      'pod-subresources / eviction with another uid',
      'reviews / token of a pod with another uid',
    ],
  },
  {
    at: /^0\.body\./,
    why: 'whom one may impersonate is said by the verb impersonate; verbs that limit it to one kind of request are not there',
    cases: ['access / a stranger does as another'],
  },
  {
    at: /^0\./,
    why: 'closed by default: without a credential nothing is answered',
    cases: ['access / nobody lists'],
  },
  {
    at: /\.(phase|lastPhaseTransitionTime|cells\.4)$/,
    why: 'controllers act in the transaction of the write: a volume is available at once',
    cases: [
      'kinds / volume',
      'kinds / volume of a driver',
      'kinds / volume with a class and a kind',
      'lives / volume: made, made again, read, listed, deleted',
      'printed / volume',
    ],
  },
  {
    at: /^5\./,
    why: 'controllers act in the transaction of the write: nobody uses the volume or claim, so its protection ends with it',
    cases: [
      'lives / claim: made, made again, read, listed, deleted',
      'lives / volume: made, made again, read, listed, deleted',
    ],
  },
  {
    at: /\.generation$/,
    why: 'classes and drivers have no generation: nothing observes it',
    cases: [
      'kinds / priority class',
      'kinds / priority class without preemption',
      'lives / priority class: made, made again, read, listed, deleted',
      'updates / what cannot change of a priority class',
      'updates / what cannot change of a driver',
    ],
  },
  {
    at: /\.body\.spec/,
    why: 'a new node has no taint: no controller would take it away when the node is ready',
    cases: [
      'kinds / node',
      'kinds / node with addresses of pods',
      'kinds / node with taints',
      'lives / node: made, made again, read, listed, deleted',
    ],
  },
  {
    at: /^1\.|^2\./,
    why: 'RFC 6902: what is replaced has to be there',
    cases: ['patches / json: replace what is not there'],
  },
  {
    at: /^[01]\./,
    why: 'a request that makes no sense is a bad request (400), whatever the real one calls it',
    cases: [
      'patches / json: an operation that is none',
      'patches / strategic: a directive that is none',
      'patches / strategic: a container without its key',
      'watches / a version that is no number',
      'bodies / null',
      'bodies / a version at the start',
      'bodies / a cluster object with a namespace',
      'pod-subresources / binding to nothing',
      'pod-subresources / binding to another kind',
      'pod-subresources / a command that is none',
      'custom-objects / another kind',
    ],
  },
  {
    at: /^1\./,
    why: 'directives that nothing is known of are ignored',
    cases: ['patches / strategic: containers in another order'],
  },
  {
    at: /^0\./,
    why: 'events of both groups are selected by the fields of either',
    cases: ['selectors / fields of new events: involvedObject.name=here'],
  },
  {
    at: /remainingItemCount$/,
    why: 'only the first page counts what remains',
    cases: ['lists / pages'],
  },
  {
    at: /^0\./,
    why: 'answers are JSON',
    cases: ['lists / YAML', 'pod-subresources / log as JSON only'],
  },
  {
    at: /^0\.(type|body)/,
    why: 'whatever is not there, the answer is a Status',
    cases: [
      'lists / a group that is not there',
      'discovery / a group that is not there',
      'discovery / a path that is not there',
    ],
  },
  {
    at: /^0\.body\./,
    why: 'an etcd before 3.4.25 cannot tell the real one how far it is, so it refuses',
    cases: [
      'watches / the beginning as a list, with a bookmark at its end',
      'watches / the beginning as a list of nothing',
    ],
  },
  {
    at: /^0\./,
    why: 'paths that Kubernetes gave up are not there',
    cases: ['watches / by the old path'],
  },
  {
    at: /\.format$/,
    why: 'what is printed is the same',
    cases: ['printed / attachment'],
  },
  {
    at: /\.apiVersion$/,
    why: 'tables have one version',
    cases: ['printed / in the old version'],
  },
  {
    at: /^0\./,
    why: 'times of whole seconds are times too',
    cases: ['bodies / a text that is too long for a time'],
  },
  {
    at: /^0\./,
    why: 'a version that is none is not the newest',
    cases: ['updates / a replacement with a version that is no number'],
  },
  {
    at: /^0\./,
    why: 'what is not there has no uid to compare',
    cases: ['updates / a replacement that makes a lease, with a uid'],
  },
  {
    at: /\.(kind|finalizers|ownerReferences)$/,
    why: 'what follows from a deletion happens in its transaction: the answer says that the object is gone',
    cases: ['deletion / foreground', 'deletion / orphans'],
  },
  {
    at: /^1\./,
    why: 'a pod that has no log yet has an empty one',
    cases: ['pod-subresources / log of a pod without a node'],
  },
  {
    at: /\.(uid|creationTimestamp|node)$/,
    why: 'a token request is no object; the node is a claim when there is one',
    cases: [
      'reviews / token',
      'reviews / token for an audience',
      'reviews / token of a pod',
      'reviews / token of a secret',
    ],
  },
  {
    at: /\.authenticated$/,
    why: 'a bad token counts as none',
    cases: ['reviews / review of a token for others'],
  },
  {
    at: /^0\.body\.resources\./,
    why: 'services are not proxied',
    cases: ['discovery / what /api/v1 has'],
  },
  {
    at: /\.version$/,
    why: 'the version is said where the real one leaves it out',
    cases: ['discovery / the core group at once'],
  },
  {
    at: /^0\.(type|body)/,
    why: 'OpenAPI documents have what kubectl reads: its kinds under other names, and no parameters',
    cases: [
      'discovery / OpenAPI 2: operations',
      'discovery / OpenAPI 2: kinds',
      'discovery / OpenAPI 3: what there is',
      'discovery / OpenAPI 3: operations',
    ],
  },
]

/** What may differ in a case; each of it has to. */
export function findChosen(table: string, name: string): readonly ChosenDifference[] {
  return chosenDifferences.filter(({ cases }) => cases.includes(`${table} / ${name}`))
}
