import type { FeatureGates } from '../gates/feature-gates.ts'
import type { GivenProvider } from './load-credential-providers.ts'

interface ProviderContext {
  readonly gates: FeatureGates
  /** Names of the plugins in the files before this one. */
  readonly taken: readonly string[]
  readonly problem: (path: string, value: unknown, rule: string) => void
}

/** The rules of credential plugins that concern more than one field: what is needed, and what excludes each other. */
export function findProviderProblems(providers: readonly GivenProvider[], context: ProviderContext): void {
  const { problem } = context
  if (providers.length === 0) problem('providers', undefined, 'expected at least one plugin')
  const names = new Set(context.taken)
  for (const [index, provider] of providers.entries()) {
    const path = `providers[${index}]`
    const need = (name: keyof GivenProvider, isThere: boolean) => {
      if (!isThere) problem(`${path}.${name}`, undefined, 'expected a value')
    }
    need('name', provider.name !== '')
    need('apiVersion', provider.apiVersion !== undefined)
    need('matchImages', provider.matchImages.length > 0)
    need('defaultCacheDuration', provider.defaultCacheDuration !== undefined)
    if (names.has(provider.name)) problem(`${path}.name`, provider.name, 'expected each plugin once')
    names.add(provider.name)
    if (provider.tokenAttributes !== undefined) findTokenProblems(provider, `${path}.tokenAttributes`, context)
  }
}

function findTokenProblems(provider: GivenProvider, path: string, { gates, problem }: ProviderContext): void {
  const { tokenAttributes, apiVersion } = provider
  if (tokenAttributes === undefined) return
  const gate = 'KubeletServiceAccountTokenForCredentialProviders'
  if (!gates.enabled(gate)) problem(path, undefined, `expected feature gate ${gate} to be on`)
  if (apiVersion !== 'credentialprovider.kubelet.k8s.io/v1')
    problem(path, undefined, 'expected the plugin to have apiVersion credentialprovider.kubelet.k8s.io/v1')
  const { requireServiceAccount, requiredServiceAccountAnnotationKeys: required } = tokenAttributes
  if (tokenAttributes.serviceAccountTokenAudience === '')
    problem(`${path}.serviceAccountTokenAudience`, undefined, 'expected a value')
  if (tokenAttributes.cacheType === undefined)
    problem(`${path}.cacheType`, undefined, 'expected Token or ServiceAccount')
  if (requireServiceAccount === undefined) problem(`${path}.requireServiceAccount`, undefined, 'expected true or false')
  if (requireServiceAccount === false && required.length > 0)
    problem(`${path}.requiredServiceAccountAnnotationKeys`, required, 'expected requireServiceAccount to be true')
  const both = tokenAttributes.optionalServiceAccountAnnotationKeys.filter((key) => required.includes(key))
  if (both.length > 0)
    problem(`${path}.optionalServiceAccountAnnotationKeys`, both, 'expected no key that is required too')
}
