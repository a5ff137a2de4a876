//! What must hold, whoever came first and whatever has failed.

use super::disk::{BUFFER, Disk, Inode, STORAGE};
use super::job::Job;
use super::machine::is_empty_folder;
use crate::protocol::{aside_name, is_aside, is_draft};
use std::ffi::OsStr;

/// The name of the host.
pub const HOST: &str = "h";

/// Where `x` is, below both folders.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// `""`, or a folder with a slash at its end.
    pub folder: &'a str,
}

impl Place<'_> {
    fn at<'d>(&self, disk: &'d Disk, top: Inode, name: &str) -> Option<&'d Vec<u8>> {
        disk.data(disk.at(top, &format!("{}{name}", self.folder))?)
    }

    /// The content of `x` in the buffer, under its name or set aside; several if both are there.
    fn in_buffer<'d>(&self, disk: &'d Disk) -> Vec<&'d Vec<u8>> {
        let aside = format!("{}/x", aside_name(HOST));
        ["x", &aside].iter().filter_map(|name| self.at(disk, BUFFER, name)).collect()
    }

    fn in_storage<'d>(&self, disk: &'d Disk) -> Option<&'d Vec<u8>> {
        self.at(disk, STORAGE, "x")
    }

    /// Nothing is lost while the machine runs.
    pub fn holds(&self, disk: &Disk, job: &Job, before: Option<&Vec<u8>>) -> Result<(), String> {
        let there = self.in_storage(disk);
        if let Some(current) = job.current {
            let content = disk.data(current).ok_or("a folder")?;
            let by_others = job.destroyed.as_ref() == Some(content);
            let found = self.in_buffer(disk).contains(&content) || there == Some(content) || by_others;
            if !found {
                return Err(format!(
                    "lost: {content:?}; in the buffer {:?}, at the destination {there:?}",
                    self.in_buffer(disk)
                ));
            }
        }
        self.is_whole(there, job, before)?;
        self.is_kept(disk, job)
    }

    /// What is at the destination was the content of `x` at some time, as a whole.
    fn is_whole(&self, there: Option<&Vec<u8>>, job: &Job, before: Option<&Vec<u8>>) -> Result<(), String> {
        let Some(there) = there else { return Ok(()) };
        let precious = job.precious_content.as_ref();
        if job.versions.contains(there) || before == Some(there) || precious == Some(there) {
            return Ok(());
        }
        Err(format!("torn: {there:?} at the destination, and never in the buffer"))
    }

    /// What somebody else has written at the destination is there.
    fn is_kept(&self, disk: &Disk, job: &Job) -> Result<(), String> {
        let Some(precious) = job.precious else { return Ok(()) };
        if disk.nodes[precious].names > 0 {
            return Ok(());
        }
        Err("what somebody else wrote at the destination is gone".into())
    }

    /// Nothing is lost when the machine fails now, whatever it remembers afterwards.
    pub fn survives(&self, disk: &Disk, job: &Job, before: Option<&Vec<u8>>) -> Result<(), String> {
        let steady = disk.with_synced_files(BUFFER);
        let storage = steady.after_failure(STORAGE);
        for after in &storage {
            self.is_whole(self.in_storage(after), job, before)?;
        }
        let Some(content) = job.current.and_then(|current| disk.data(current)) else { return Ok(()) };
        if job.destroyed.as_ref() == Some(content) {
            return Ok(());
        }
        // If the machine has forgotten what the job did to its names, an older version must be there.
        let is_found =
            |found: &Vec<u8>, older: bool| found == content || (older && job.versions.contains(found));
        let lost_there = |older: bool| {
            storage.iter().any(|after| !self.in_storage(after).is_some_and(|found| is_found(found, older)))
        };
        for after in steady.after_failure(BUFFER) {
            let older = after.forgot_the_job;
            let here = self.in_buffer(&after);
            let removed = older && job.was_missing && here.is_empty();
            let lost_here = !removed && !here.iter().any(|found| is_found(found, older));
            if lost_here && lost_there(older) {
                return Err(format!("lost by a failure of the machine: {content:?}"));
            }
        }
        Ok(())
    }

    /// Nothing of ours is left, except a file that could not be put back because another has its name: that
    /// is kept, and told.
    pub fn is_clean(&self, disk: &Disk) -> Result<(), String> {
        let of_ours = |name: &str| is_draft(OsStr::new(name)) || is_aside(OsStr::new(name));
        let may_stay = |folder: Inode, file: Inode| {
            let superseded = |name: &String| disk.find(folder, name).is_some();
            disk.is_folder(file) && (is_empty_folder(disk, file) || disk.names(file).keys().all(superseded))
        };
        let left = (0..disk.nodes.len())
            .filter(|node| disk.is_folder(*node) && disk.is_reachable(*node))
            .flat_map(|folder| disk.names(folder).iter().map(move |(name, file)| (folder, name, *file)))
            .find(|(folder, name, file)| of_ours(name) && !may_stay(*folder, *file));
        match left {
            Some((folder, name, _)) => Err(format!("{name} is left in {folder}")),
            None => Ok(()),
        }
    }
}
