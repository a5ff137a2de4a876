//! Rules for names, programs, and parts of scripts that other processes and threads play.

use super::super::rows::Rule;
use super::super::script::{IN, Op};
use super::{Descriptor, Kind, Last, Model, Part, STANDARD_ERROR, Sort, allowed};

impl Model {
    pub(super) fn step_of_parts(&mut self, op: &Op) -> Option<()> {
        match op.row.rule {
            Rule::Make | Rule::Names => Some(()),
            Rule::Unlink => {
                self.has_fifo &= op.words[0] != "p0" || self.is_below;
                Some(())
            }
            Rule::MakeFifo => {
                allowed(!self.is_branch)?;
                self.has_fifo = true;
                Some(())
            }
            Rule::Chdir => {
                allowed(!self.is_branch && self.is_below == (op.words[0] == ".."))?;
                self.is_below = !self.is_below;
                Some(())
            }
            Rule::Fchdir => {
                let Sort::Directory(is_below) = self.descriptor(op, 0)?.sort else { return None };
                allowed(!self.is_branch)?;
                self.is_below = is_below;
                Some(())
            }
            // What a program says of its troubles is told apart by the name of its standard error.
            Rule::Program => {
                let error = self.descriptors.get(2)?.as_ref()?;
                allowed(!self.is_branch && error.description == STANDARD_ERROR)
            }
            Rule::ProgramTo => {
                let descriptor = self.descriptor(op, 1)?;
                let description = descriptor.description;
                allowed(descriptor.sort == Sort::File && descriptor.writes && !self.is_branch)?;
                self.touches(description, None)
            }
            Rule::Begin => self.begins(op),
            Rule::Branch => {
                allowed(self.before_an_end().is_empty())?;
                let part = self.part.as_mut()?;
                // The player has three threads.
                allowed(part.name == "parallel" && part.branches < 3)?;
                part.branches += 1;
                let part = self.part.take();
                *self = Model::of_branch(part);
                Some(())
            }
            Rule::EndPart => {
                allowed(self.before_an_end().is_empty())?;
                allowed(op.row.name.strip_prefix("end_") == self.part())?;
                self.ends_part();
                Some(())
            }
            Rule::End => {
                allowed(self.part.is_none() && self.before_an_end().is_empty())?;
                self.has_ended = true;
                Some(())
            }
            rule => unreachable!("{rule:?} has no rule"),
        }
    }

    fn of_branch(part: Option<Part>) -> Self {
        let mut model = Model::new();
        model.streams.fill(None);
        model.descriptors.fill(None);
        model.part = part;
        model.is_branch = true;
        model
    }

    fn begins(&mut self, op: &Op) -> Option<()> {
        allowed(self.part.is_none())?;
        let name = op.row.name;
        allowed(name != "daemon" || !self.has_program())?;
        // Threads have directories of their own below the first.
        allowed(name != "parallel" || !self.is_below)?;
        let part = Some(Part { name, before: Box::new(self.clone()), branches: 1 });
        if name == "parallel" {
            *self = Model::of_branch(part);
            return Some(());
        }
        self.part = part;
        if name != "thread" {
            // A child has no use for its parent's programs.
            for place in &mut self.streams {
                place.take_if(|stream| stream.kind == Kind::Program);
            }
        }
        if name == "daemon" {
            for number in 0..3 {
                let description = self.new_description();
                if let Some(descriptor) = &mut self.descriptors[number] {
                    *descriptor = Descriptor { sort: Sort::Other, description, reads: true, writes: true };
                }
                if let Some(stream) = &mut self.streams[IN + number] {
                    stream.kind = Kind::Other;
                    stream.description = description;
                }
            }
        }
        Some(())
    }

    fn ends_part(&mut self) {
        let Some(part) = self.part.take() else { return };
        match part.name {
            "thread" => {}
            "parallel" => *self = *part.before,
            _ => {
                let has_fifo = self.has_fifo || part.before.has_fifo;
                *self = Model { has_fifo, ..*part.before };
                // The child may have read what they share; what is only written needs no position.
                for stream in self.streams.iter_mut().flatten() {
                    if stream.kind == Kind::File && stream.reads {
                        stream.last = Last::Elsewhere;
                    }
                }
            }
        }
    }
}
