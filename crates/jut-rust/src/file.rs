//! A whole Rust file: its functions, and what they name that stands in the same file. For those who want to see
//! the text, and for build scripts; rustc is not asked, so a name means an item of the file that has it.

use crate::syntax::{key, named_self};
use crate::template::Hole;
use crate::types::{Ty, read};
use crate::{Lowered, Refusal, Signature, lower, signature};
use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::visit::Visit;
use syn::{Attribute, Fields, Item, ItemFn, Type};

/// A Rust file.
#[derive(Default)]
pub struct File {
    /// Functions with the attribute, and methods of `impl` blocks with it.
    pub functions: Vec<Function>,
    /// Structs and enums that derive `Data`.
    pub data: Vec<Shape>,
    /// Other names of types: the name, the type, and what stands in it.
    pub names: Vec<(String, Ty, Vec<Hole>)>,
    /// Constants: the name, the type, and the value as it is written.
    pub constants: Vec<(String, Ty, String)>,
    /// What `use` gives a name: the name and the path.
    pub imports: Vec<(String, String)>,
    /// Whether structs and enums are read that do not derive `Data`.
    whole: bool,
}

/// A function with the attribute.
pub struct Function {
    /// Its name; `Type_method` of a method.
    pub name: String,
    /// The number by which a method is found.
    pub key: u64,
    /// Whether functions, constants or `use` stand in its body, which hide those of the file.
    pub has_items: bool,
    /// What it becomes.
    pub lowered: Result<(Signature, Lowered), Refusal>,
}

/// A struct, or an enum.
pub struct Shape {
    /// Its name.
    pub name: String,
    /// The variants of an enum.
    pub variants: Option<Vec<String>>,
    /// The fields; those of all variants are called `Variant.field`.
    pub fields: Vec<(String, Ty)>,
    /// What stands in their types.
    pub holes: Vec<Hole>,
    /// Whether it holds itself.
    pub recursive: bool,
}

/// Reads a file.
///
/// # Errors
/// What is no Rust, or a type that is not built.
pub fn file(text: &str) -> Result<File, Refusal> {
    let parsed = syn::parse_file(text).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
    let mut file = File::default();
    file.items(&parsed.items, false)?;
    Ok(file)
}

/// Reads the functions and types of a file that stand in no module within it, with the attribute or without. Those that are not built are only
/// refused where they are asked for, and types are not there.
///
/// # Errors
/// What is no Rust.
pub fn whole(text: &str) -> Result<File, Refusal> {
    let parsed = syn::parse_file(text).map_err(|e| Refusal::new(Some(e.span()), e.to_string()))?;
    let mut file = File { whole: true, ..File::default() };
    for item in &parsed.items {
        if matches!(item, Item::Mod(_)) {
            continue;
        }
        // A type that is not built is none of the file.
        let _ = file.items(std::slice::from_ref(item), true);
        if let Item::Use(of) = item {
            imported(&of.tree, String::new(), &mut file.imports);
        }
    }
    Ok(file)
}

/// The names that a `use` gives, each with its path.
fn imported(tree: &syn::UseTree, before: String, to: &mut Vec<(String, String)>) {
    match tree {
        syn::UseTree::Path(path) => imported(&path.tree, format!("{before}{}::", path.ident), to),
        syn::UseTree::Name(name) => {
            to.push((name.ident.to_string(), format!("{before}{}", name.ident)))
        }
        syn::UseTree::Rename(name) => {
            to.push((name.rename.to_string(), format!("{before}{}", name.ident)));
        }
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| imported(tree, before.clone(), to));
        }
        syn::UseTree::Glob(_) => to.push(("*".to_string(), format!("{before}*"))),
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|a| a.path().segments.last().is_some_and(|s| s.ident == name))
}

fn derives_data(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|a| a.path().is_ident("derive"));
    let mut words = derives.filter_map(|a| a.meta.require_list().ok()).flat_map(|list| {
        let text = list.tokens.to_string();
        text.split(',').map(|w| w.replace(' ', "")).collect::<Vec<_>>()
    });
    words.any(|w| w == "Data" || w.ends_with("::Data"))
}

impl File {
    /// Reads items; those of a module with the attribute have it, too.
    fn items(&mut self, items: &[Item], within: bool) -> Result<(), Refusal> {
        for item in items {
            let taken = within && crate::module::is_taken(item);
            match item {
                Item::Fn(function) if taken || has(&function.attrs, "differentiable") => {
                    self.function(function, None, crate::attribute::wrt(&function.attrs));
                }
                Item::Trait(block) if taken || has(&block.attrs, "differentiable") => {
                    for item in &block.items {
                        let syn::TraitItem::Fn(method) = item else { continue };
                        let Some(body) = &method.default else { continue };
                        let owner: Type = syn::parse_quote!(Own);
                        let (sig, of) = (&method.sig, &block.ident);
                        let mut function: ItemFn = syn::parse_quote!(#sig #body);
                        function.sig.generics.params.insert(0, syn::parse_quote!(Own: #of));
                        let tokens = named_self(function.to_token_stream(), &owner);
                        if let Ok(function) = syn::parse2::<ItemFn>(tokens) {
                            self.function(&function, Some(&owner), None);
                        }
                    }
                }
                Item::Impl(block) if taken || has(&block.attrs, "differentiable") => {
                    for item in &block.items {
                        let syn::ImplItem::Fn(method) = item else { continue };
                        let (vis, sig, body) = (&method.vis, &method.sig, &method.block);
                        let tokens = named_self(quote!(#vis #sig #body), &block.self_ty);
                        if let Ok(mut function) = syn::parse2::<ItemFn>(tokens) {
                            let operator = crate::overloaded::operator_of(block);
                            if let Some(operator) = operator
                                && crate::indexed::is_method(&function)
                                && let Ok(told) = crate::indexed::function(
                                    &function,
                                    &block.self_ty,
                                    &operator.right,
                                )
                            {
                                function = told;
                            }
                            self.function(&function, Some(&block.self_ty), None);
                        }
                    }
                }
                Item::Struct(item) if self.whole || derives_data(&item.attrs) => {
                    let mut holes = Vec::new();
                    let fields = fields("", &item.fields, &mut holes)?;
                    let name = item.ident.to_string();
                    let recursive = holds_itself(item.to_token_stream());
                    self.data.push(Shape { name, variants: None, fields, holes, recursive });
                }
                Item::Enum(item) if self.whole || derives_data(&item.attrs) => {
                    let (mut holes, mut all) = (Vec::new(), Vec::new());
                    for variant in &item.variants {
                        all.extend(fields(
                            &format!("{}.", variant.ident),
                            &variant.fields,
                            &mut holes,
                        )?);
                    }
                    let words = item.variants.iter().map(|v| v.ident.to_string()).collect();
                    let name = item.ident.to_string();
                    let recursive = holds_itself(item.to_token_stream());
                    let variants = Some(words);
                    self.data.push(Shape { name, variants, fields: all, holes, recursive });
                }
                Item::Type(item) => {
                    let mut holes = Vec::new();
                    if let Ok(ty) = read(&item.ty, &mut holes) {
                        self.names.push((item.ident.to_string(), ty, holes));
                    }
                }
                Item::Const(item) => {
                    // Constants of other types are none of the text.
                    if let Ok(ty) = read(&item.ty, &mut Vec::new()) {
                        let value = item.expr.to_token_stream().to_string().replace(' ', "");
                        self.constants.push((item.ident.to_string(), ty, value));
                    }
                }
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        let all = taken || has(&module.attrs, "differentiable");
                        self.items(items, all)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn function(&mut self, function: &ItemFn, owner: Option<&Type>, wrt: Option<Vec<Ident>>) {
        for statement in &function.block.stmts {
            if let syn::Stmt::Item(Item::Fn(inner)) = statement
                && !self.whole
            {
                self.function(inner, None, None);
            }
        }
        let plain = function.sig.ident.to_string().trim_start_matches("r#").to_string();
        let name = match owner {
            None => plain.clone(),
            Some(owner) => {
                let owner = owner.to_token_stream().to_string().replace(' ', "");
                format!("{}_{plain}", owner.rsplit("::").next().unwrap_or(""))
            }
        };
        let lowered = signature(function, owner).and_then(|signature| {
            let signature = match &wrt {
                Some(names) => signature.by(names)?,
                None => signature,
            };
            let lowered = lower(function, &signature)?;
            Ok((signature, lowered))
        });
        let mut items = Items(false);
        items.visit_block(&function.block);
        self.functions.push(Function { name, key: key(&plain), has_items: items.0, lowered });
    }
}

/// Whether there is an item in a block.
struct Items(bool);

impl Visit<'_> for Items {
    fn visit_item(&mut self, _: &Item) {
        self.0 = true;
    }
}

fn holds_itself(item: proc_macro2::TokenStream) -> bool {
    syn::parse2(item).is_ok_and(|input| crate::recursive::is_recursive(&input))
}

fn fields(
    before: &str,
    fields: &Fields,
    holes: &mut Vec<Hole>,
) -> Result<Vec<(String, Ty)>, Refusal> {
    let each = fields.iter().enumerate().map(|(k, field)| {
        let name = match &field.ident {
            Some(name) => name.to_string().trim_start_matches("r#").to_string(),
            None => k.to_string(),
        };
        Ok((format!("{before}{name}"), read(&field.ty, holes)?))
    });
    each.collect()
}
