import type { Ingress, IngressClass } from '../generated/api-groups.ts'
import { newestOf } from '../text/newest-of.ts'

/** The name by which classes ask a standalone node to serve their Ingresses. */
export const OWN_INGRESS_CONTROLLER = 'deckhand.local/ingress'
/** What marks the class of Ingresses that name none. */
export const DEFAULT_INGRESS_CLASS = 'ingressclass.kubernetes.io/is-default-class'
/** How Ingresses named their class before they had a field for it. */
export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

/** Whether Ingresses that name no class get this one. */
export function isDefaultIngressClass({ metadata }: IngressClass): boolean {
  return metadata?.annotations?.[DEFAULT_INGRESS_CLASS] === 'true'
}

/** The class of Ingresses that name none: of several the newest. */
export function findDefaultIngressClass(classes: readonly IngressClass[]): string | undefined {
  return newestOf(classes.filter(isDefaultIngressClass))?.metadata?.name
}

/** The class that an Ingress names; undefined when it names none, so that no controller serves it. */
export function ingressClassOf({ metadata, spec }: Ingress): string | undefined {
  return spec?.ingressClassName ?? metadata?.annotations?.[CLASS_ANNOTATION]
}
